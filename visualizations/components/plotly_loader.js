// Loads plotly's own script from the Python package, once a page, however many parts of it ask. Loading it
// here and not in the page's head lets the tokens appear while it is still on its way.

function plotlyReady() {
  if (window.Plotly) return Promise.resolve(window.Plotly);
  if (!window.specdecPlotly) {
    window.specdecPlotly = new Promise((resolve, reject) => {
      const script = document.createElement("script");
      const root = (window.gradio_config && window.gradio_config.root) || "";
      script.src = root.replace(/\/$/, "") + "/gradio_api/file=" + props.plotly_js;
      script.onload = () => resolve(window.Plotly);
      script.onerror = reject;
      document.head.append(script);
    });
  }
  return window.specdecPlotly;
}

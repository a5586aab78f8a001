// Gradio asks for the app's id only once it has lost the server, and opens the page anew when it is answered.
function onConnectionLost(act) {
  const asked = (entries) => entries.some((entry) => entry.name.includes("/gradio_api/app_id"));
  const seen = new PerformanceObserver((list) => {
    if (asked(list.getEntries())) act();
  });
  seen.observe({ type: "resource" });
  addEventListener("pagehide", () => {
    if (asked(seen.takeRecords())) act();
  });
}

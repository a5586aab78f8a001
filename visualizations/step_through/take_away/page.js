// What Gradio is to the run view in the app: its element, its props, and someone to tell, who isn't here.
const props = JSON.parse(document.getElementById("props").textContent);
props.value = document.getElementById("run").textContent;
document.getElementById("prompt").textContent = props.prompt;
showRun(document.getElementById("view"), props, () => {}, () => {});

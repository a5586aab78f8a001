// What the page asks for, handed to the server with the runs that it is about.
const listen = (event) => {
  if (!element.isConnected) return document.removeEventListener("specdec:ask", listen);
  props.value = event.detail;
  trigger(event.detail.runs ? "save" : "go");
};
document.addEventListener("specdec:ask", listen);

// What outlives a reload: it is kept by this tab of the browser, and goes when the tab is closed.
function remember(name, value) {
  const key = "specdec/" + name;
  try {
    sessionStorage.removeItem(key); // so that what has no room leaves nothing older in its place
    sessionStorage.setItem(key, JSON.stringify(value));
    return true;
  } catch {
    return false; // no room, or a browser that keeps nothing
  }
}

function recall(name) {
  try {
    return JSON.parse(sessionStorage.getItem("specdec/" + name));
  } catch {
    return null;
  }
}

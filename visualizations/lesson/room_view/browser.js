// What the server knows a browser by: 128 bits drawn here for one room, so that nothing links two lessons. All tabs of
// the browser share them, and so have one vote.
let drawn = null;

function browserFor(code) {
  const kept = drawn || keptBrowser();
  drawn = kept && kept.code === code ? kept : { code, browser: randomHex() };
  try {
    localStorage.setItem("specdec/room", JSON.stringify(drawn));
  } catch {
    // a browser that keeps nothing has it until the page is left
  }
  return drawn.browser;
}

function keptBrowser() {
  try {
    return JSON.parse(localStorage.getItem("specdec/room"));
  } catch {
    return null;
  }
}

function randomHex() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

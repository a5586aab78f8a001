// How far one has come: it is kept by this browser, and nobody else hears of it.

const PROGRESS = "specdec/lesson";

function recallProgress() {
  try {
    const { page, marks } = JSON.parse(localStorage.getItem(PROGRESS));
    return { page, marks: marks || {} };
  } catch {
    return { page: null, marks: {} }; // nothing yet, or a browser that keeps nothing
  }
}

function keepProgress(progress) {
  try {
    localStorage.setItem(PROGRESS, JSON.stringify(progress));
  } catch {
    // no room: the pages can be turned all the same
  }
}

// A wish leaves the page once, however often its button is pressed before the answer is there.
let asked = false;

function passOn(wish, waiting) {
  if (!waiting) asked = false;
  else if (wish && !asked) {
    asked = true;
    trigger(wish);
  }
}

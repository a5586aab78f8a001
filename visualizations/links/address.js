// What is on screen as the fragment of an address, "tab=step-through&example=code&position=12", and back. What a
// fragment says is somebody's text: of each key that is known the value is used or named as bad; others are passed over.

const LONGEST_FRAGMENT = 32_000;
const MOST_STEPS = 100_000;
const NUMBER = /^-?\d+(\.\d+)?(e-?\d+)?$/i;
const NAME = /^[\w-]{1,64}$/;
const DAMAGED = "\uFFFD"; // what the browser makes of percent codes that are no text

function wholeNumber(text) {
  const number = Number(text);
  return /^\d{1,6}$/.test(text) && number >= 1 && number <= MOST_STEPS ? number : undefined;
}

function matching(pattern) {
  return (text) => (pattern.test(text) ? text : undefined);
}

// How the value of each key is read: what it means, undefined where it can't be used.
const READ = new Map([
  ["tab", (text) => (props.tabs.includes(text) ? text : undefined)],
  ["example", (text) => (props.examples.some(({ key }) => key === text) ? text : undefined)],
  ["prompt", (text) => (text.length > 0 && !text.includes(DAMAGED) ? text : undefined)],
  ["position", wholeNumber],
  ["page", wholeNumber],
  ["section", matching(NAME)],
  ["room", matching(/^[A-Za-z0-9]{1,12}$/)],
  ["lang", matching(/^[A-Za-z]{2}(-[A-Za-z]{2,4})?$/)],
]);
const READ_FIELD = {
  text: (text, { longest }) => (text.length <= longest && !text.includes(DAMAGED) ? text : undefined),
  choice: (text, { choices }) => choices.find((choice) => choice === text),
  switch: (text) => ({ true: true, false: false })[text === "true" || text === "false" ? text : "neither"],
  number: (text, { low, high, whole }) => {
    const number = NUMBER.test(text) ? Number(text) : NaN;
    return number >= low && number <= high && (!whole || Number.isInteger(number)) ? number : undefined;
  },
};
for (const field of props.fields) READ.set(field.name, (text) => READ_FIELD[field.kind](text, field));

// { said: Map of key to meaning, bad: names of the keys whose values can't be used, long: whether it is too long }
function readFragment(fragment) {
  if (fragment.length > LONGEST_FRAGMENT) return { said: new Map(), bad: [], long: true };
  const texts = new URLSearchParams(fragment);
  const said = new Map();
  const bad = [];
  for (const [key, read] of READ) {
    if (!texts.has(key)) continue;
    const meaning = read(texts.get(key));
    if (meaning === undefined) bad.push(key);
    else said.set(key, meaning);
  }
  return { said, bad, long: false };
}

// entries: [key, value] in the order in which they are to stand; what is empty is left out.
function writeFragment(entries) {
  const there = entries.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return new URLSearchParams(there.map(([key, value]) => [key, String(value)])).toString();
}

// The values of the boxes that a link with a prompt asks for: what it doesn't say is as a new form has it.
function formOf(said) {
  return [said.get("prompt"), ...props.fields.map(({ name, value }) => (said.has(name) ? said.get(name) : value))];
}

function sameForm(one, other) {
  return one.length === other.length && one.every((value, i) => String(value ?? "") === String(other[i] ?? ""));
}

function exampleOf(run) {
  return props.examples.find((example) => example.run === run);
}

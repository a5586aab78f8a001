// A question that is answered by numbers: each sentence has a box beside it, and Check judges those that are filled.

function buildBlanks({ blanks }, answered) {
  const rows = blanks.map((blank, i) => {
    const row = make("div", "qu-blank");
    const label = make("label");
    const input = Object.assign(make("input"), { type: "number", step: "any", inputMode: "decimal", autocomplete: "off" });
    const said = make("p", "qu-blank-said");
    said.id = "qu-" + props.value.key + "-" + i;
    input.setAttribute("aria-describedby", said.id);
    input.addEventListener("keydown", (event) => event.key === "Enter" && check());
    label.append(make("span", "", blank.said), input);
    row.append(label, said);
    return { row, input, said, blank };
  });

  function judge({ row, input, said, blank }) {
    const number = input.valueAsNumber;
    if (!Number.isFinite(number)) return null;
    const right = near(number, blank.number, blank);
    row.dataset.fate = right ? "right" : "wrong";
    setText(said, right ? words.right : fill(words.not_this, { why: whyWrong(number, blank), answer: blank.shown }));
    return { answer: number, right };
  }

  function check() {
    const judged = rows.map(judge);
    const given = judged.flatMap((one, i) => (one ? [{ question: rows.length > 1 ? "." + i : "", ...one }] : []));
    if (!given.length) return rows[0].input.focus();
    const count = given.filter((one) => one.right).length;
    const right = count === rows.length;
    if (rows.length > 1) given.push({ question: "", answer: count, right });
    const why = rows.length > 1 ? fill(words.count, { count, of: rows.length }) : right ? rows[0].blank.why : "";
    answered(given, { right, why, solution: "" });
  }

  function reveal() {
    for (const { row, input, said, blank } of rows) {
      row.dataset.fate = "right";
      input.value = blank.shown;
      setText(said, blank.why);
    }
  }

  function reset() {
    for (const { row, input, said } of rows) {
      row.dataset.fate = "";
      input.value = "";
      setText(said, "");
    }
  }

  return { nodes: rows.map(({ row }) => row), reveal, reset, check, solution: () => "", needsCheck: true };
}

function near(number, wanted, { tolerance }) {
  return Math.abs(number - wanted) <= tolerance + 1e-12;
}

function whyWrong(number, blank) {
  const known = blank.wrong.find(([mistake]) => near(number, mistake, blank));
  return known ? known[1] : blank.why;
}

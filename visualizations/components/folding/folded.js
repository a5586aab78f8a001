const where = element.querySelector(".fold-where");
const folding = fold(element, element.querySelector(".fold-head"), { section: props.section, title: props.title, level: "h2" });

function draw() {
  const value = props.value || {};
  folding.say(value.result || "");
  setText(where, value.where || "");
}

folding.show(props.begins_open);
draw();
watch("value", draw);

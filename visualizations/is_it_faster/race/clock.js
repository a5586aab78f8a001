// The clock: a time in seconds that the lanes show. A frame of the replay asks the server for nothing.

const clock = { time: 0, speed: 1, playing: false, last: null, drawn: null };
const running = () => Boolean(props.value && props.value.running);
const LONGEST_FRAME = 0.25; // a page in the background stands still
const STEP = 1; // seconds: who asked for little motion sees the race from step to step
const reduced = matchMedia("(prefers-reduced-motion: reduce)");

function drawTime() {
  const { time } = clock;
  for (const lane of lanes) drawLane(lane, time);
  const share = total ? time / total : 0;
  part("scrub").value = String(Math.round(1000 * share));
  part("scrub").setAttribute("aria-valuetext", fill(words.scrub_value, { time: seconds(time), total: seconds(total) }));
  setText(part("clock"), seconds(time) + " / " + seconds(total));
}

function drawLane(lane, clockTime) {
  const time = running() ? lane.seconds : clockTime; // while it runs, each lane shows all that it has
  const part_ = total ? Math.min(1, time / total) : 0;
  lane.blocks.style.clipPath = "inset(-2px " + (100 - 100 * part_) + "% -2px 0)";
  lane.hand.style.left = 100 * part_ + "%";
  let done = 0;
  lane.tokens.forEach((token, i) => {
    const there = token.at <= time + 1e-9;
    done += there;
    if (i < lane.shown !== there) token.node.classList.toggle("ra-later", !there);
  });
  lane.shown = done;
  const most = Math.max(...lanes.map((other) => other.tokens.length), running() ? lane.limit : 1);
  lane.bar.style.width = (100 * done) / most + "%";
  const over = lane.seconds > 0 && time >= lane.seconds - 1e-9;
  const spent = over ? lane.seconds : time;
  const rate = spent > 0 && done ? (done / spent).toFixed(1) : "–";
  const sentence = over && lane.told ? words.count_over : words.count;
  setText(lane.count, fill(sentence, { done, rate, time: seconds(spent), told: lane.told }));
}

function frame(now) {
  if (!clock.playing) return;
  const passed = clock.last === null ? 0 : Math.min(LONGEST_FRAME, (now - clock.last) / 1000);
  clock.last = now;
  clock.time = Math.min(total, clock.time + passed * clock.speed);
  if (clock.time >= total) pause();
  if (isDue(now)) {
    clock.drawn = now;
    drawTime();
    follow();
  }
  if (clock.playing) requestAnimationFrame(frame);
}

function isDue(now) {
  return !reduced.matches || !clock.playing || clock.drawn === null || now - clock.drawn >= 1000 * STEP;
}

// Zoomed in, the hand stays in view; while it runs, that of the lane that grows.
function follow() {
  if (!lanes.length || !part("lanes").classList.contains("ra-zoomed")) return;
  const { scroll } = lanes[0];
  const growing = lanes.filter((lane) => lane.tokens.length).pop();
  const time = running() && growing ? growing.seconds : clock.time;
  scroll.scrollLeft = (time / total) * scroll.scrollWidth - scroll.clientWidth / 2;
}

function play() {
  if (!total) return;
  if (clock.time >= total) clock.time = 0;
  clock.playing = true;
  clock.last = clock.drawn = null;
  drawPlay();
  requestAnimationFrame(frame);
}

function pause() {
  clock.playing = false;
  drawPlay();
}

function drawPlay() {
  const name = clock.playing ? words.pause : words.play;
  setText(part("play"), (clock.playing ? "❚❚ " : "▶ ") + name);
}

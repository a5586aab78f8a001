// Votes on their way to a room: one after another, and again until the server has answered.
const AGAIN_MS = 5000;
const sending = new WeakSet(); // rooms

// room: {code, browser, waiting: [{question, answer}]}. told: hears each answer, and says whether to go on.
async function sendVotes(room, told) {
  if (sending.has(room)) return;
  sending.add(room);
  while (room.waiting.length) {
    const answer = await ask("cast_vote", { code: room.code, browser: room.browser, ...room.waiting[0] });
    const again = answer.why === "later";
    if (!again) room.waiting.shift();
    if (!told(answer)) break;
    if (again) await new Promise((waited) => setTimeout(waited, AGAIN_MS));
  }
  sending.delete(room);
}

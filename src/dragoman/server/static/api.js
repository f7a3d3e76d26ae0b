// Talking to the server: JSON in and out, and the translation as a stream of events.

let key = "";

/** Use this API key from now on; it is kept in memory only. */
export function useKey(value) {
  key = value;
}

/** The models that are served. */
export async function models() {
  return (await ask("api/models")).models;
}

/** The explanation of one sentence (POST /api/explain). */
export function explain(body, signal) {
  return ask("api/explain", post(body, signal));
}

/** Hear the translation piece by piece (POST /api/stream); gives back the whole of it. */
export async function stream(body, onToken, signal) {
  const answer = await request("api/stream", post(body, signal));
  for await (const { event, data } of events(answer.body)) {
    if (event === "token") onToken(data);
    if (event === "error") throw new Error(data.error);
    if (event === "done") return data;
  }
  throw new Error("The server closed the stream before the translation was complete.");
}

function post(body, signal) {
  const headers = { "Content-Type": "application/json" };
  return { method: "POST", body: JSON.stringify(body), signal, headers };
}

async function ask(address, options) {
  return (await request(address, options)).json();
}

async function request(address, options = {}) {
  const headers = { ...options.headers, ...(key ? { Authorization: `Bearer ${key}` } : {}) };
  let answer;
  try {
    answer = await fetch(address, { ...options, headers });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The server cannot be reached. Is `dragoman serve` still running?");
  }
  if (answer.ok) return answer;
  const said = await answer.json().catch(() => ({}));
  const isText = typeof said.error === "string";
  const error = new Error(isText ? said.error : `The server answered ${answer.status}.`);
  error.status = answer.status;
  throw error;
}

/** Server-sent events, as {event, data}. */
async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let waiting = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    waiting += value.replaceAll("\r\n", "\n");
    const blocks = waiting.split("\n\n");
    waiting = blocks.pop();
    for (const block of blocks) {
      const event = valuesOf(block, "event:")[0]?.trim();
      if (event) yield { event, data: JSON.parse(valuesOf(block, "data:").join("\n")) };
    }
  }
}

/** What follows a name at the beginnings of a block's lines. */
function valuesOf(block, name) {
  const lines = block.split("\n").filter((line) => line.startsWith(name));
  return lines.map((line) => line.slice(name.length));
}

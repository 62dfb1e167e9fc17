// The client of a model that streams server-sent events: pieces of text, then the tokens that the answer has used.
export interface Event {
  text?: string;
  usage?: { input: number; output: number };
}

export async function* ask(url: string, prompt: string, maxOutput: number, signal: AbortSignal): AsyncGenerator<Event> {
  const body = JSON.stringify({ prompt, max_tokens: maxOutput, stream: true });
  const response = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body, signal });
  if (!response.ok || !response.body) throw new Error(`the model answered ${response.status}`);
  const [reader, decoder] = [response.body.getReader(), new TextDecoder()];
  let rest = "";
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const lines = (rest + decoder.decode(part.value, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.startsWith("data: {")) yield JSON.parse(line.slice(6));
  }
}

/**
 * Of one answer, unpacked; a request asks for a few MiB, unless a single value is larger. While it is read an answer takes
 * about four times as much: its parts, the text made of them, the strings in the text, the bytes in the strings.
 */
export const MAX_ANSWER_BYTES = 32 * 2 ** 20;

/** The text of an answer, which is given up as soon as it is longer than `mostBytes`: nobody else bounds what a server sends. */
export async function textWithin(response: Response, mostBytes = MAX_ANSWER_BYTES): Promise<string> {
  const { body, headers } = response;
  const told = headers.get("Content-Length");
  if (told !== null && Number(told) > mostBytes) {
    await body?.cancel();
    throw new Error(`the answer has ${told} bytes; at most ${mostBytes} are read`);
  }
  // What is packed may unpack to anything, what is not is as long as it says.
  if (!body || (told !== null && headers.get("Content-Encoding") === null)) return response.text();
  const parts: Uint8Array[] = [];
  let sizeBytes = 0;
  const reader = body.getReader();
  for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
    sizeBytes += value!.length;
    if (sizeBytes > mostBytes) {
      await reader.cancel();
      throw new Error(`the answer has more than ${mostBytes} bytes, and was given up`);
    }
    parts.push(value!);
  }
  return textOf(parts);
}

function textOf(parts: Uint8Array[]): string {
  const decoder = new TextDecoder();
  let text = "";
  for (let i = 0; i < parts.length; i++) {
    text += decoder.decode(parts[i], { stream: true });
    // One copy at a time.
    parts[i] = undefined as never;
  }
  return text + decoder.decode();
}

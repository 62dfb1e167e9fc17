/**
 * Largest answer, uncompressed. Requests ask for a few MiB, unless a single value is larger. Reading an answer takes
 * about four times its size: its parts, their text, the strings in the text, and the bytes in the strings.
 */
export const MAX_ANSWER_BYTES = 32 * 2 ** 20;

/** Reads the text of an answer. Cancels it when it is longer than `maxBytes`, because nothing else bounds it. */
export async function textWithin(response: Response, maxBytes = MAX_ANSWER_BYTES): Promise<string> {
  const { body, headers } = response;
  const declared = headers.get("Content-Length");
  if (declared !== null && Number(declared) > maxBytes) {
    await body?.cancel();
    throw new Error(`the answer has ${declared} bytes; at most ${maxBytes} are read`);
  }
  // A compressed body may become any length. An uncompressed one has its declared length.
  if (!body || (declared !== null && headers.get("Content-Encoding") === null)) return response.text();
  const parts: Uint8Array[] = [];
  let sizeBytes = 0;
  const reader = body.getReader();
  for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
    sizeBytes += value!.length;
    if (sizeBytes > maxBytes) {
      await reader.cancel();
      throw new Error(`the answer has more than ${maxBytes} bytes, and was cancelled`);
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
    // Frees each part after its copy.
    parts[i] = undefined as never;
  }
  return text + decoder.decode();
}

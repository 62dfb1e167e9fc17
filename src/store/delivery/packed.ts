import { ownView } from "../../base/realm.ts";
import type { PackedForm, Packing } from "../contract.ts";

/** Packs the inputs of calls into one argument, and splits the reply. Counterpart of lua/store/each-packed.lua. */
export function packed<Input, Output>(form: PackedForm<Input, Output>): Packing<Input, Output> {
  const { inputBytes, answerBytes } = form;
  return {
    ...form,
    argumentsOf: (inputs) => [inputs.length, pack(inputs, form), inputBytes],
    answersOf(replies, count, answered, refused) {
      const [first, ...refusals] = replies;
      const answers = ownView(first);
      const texts = new Map<number, readonly string[]>();
      for (const refusal of refusals) {
        const [group, ...why] = (refusal as unknown[]).map(String);
        texts.set(Number(group) - 1, why);
      }
      if (!(answers instanceof Uint8Array) || answers.length !== (count - texts.size) * answerBytes)
        throw new RangeError("the reply has another size than expected");
      const view = new DataView(answers.buffer, answers.byteOffset, answers.length);
      let at = 0;
      for (let i = 0; i < count; i++) {
        const [code, text = ""] = texts.get(i) ?? [];
        if (code !== undefined) {
          refused(i, code, text);
          continue;
        }
        const from = at;
        at += answerBytes;
        answered(i, () => form.read(view, from));
      }
    },
  };
}

/** All inputs, one after the other. Only one if all calls share the same object. */
function pack<Input>(inputs: readonly Input[], { inputBytes, write }: PackedForm<Input, unknown>): Uint8Array {
  if (inputs.every((input) => input === inputs[0])) inputs = inputs.slice(0, 1);
  const bytes = new Uint8Array(inputs.length * inputBytes);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < inputs.length; i++) write(view, i * inputBytes, inputs[i]!);
  return bytes;
}

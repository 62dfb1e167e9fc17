import remarkGfm from "remark-gfm";
import remarkParse from "remark-parse";
import remarkRetext from "remark-retext";
import retextEnglish from "retext-english";
import retextIndefiniteArticle from "retext-indefinite-article";
import retextReadability from "retext-readability";
import retextRepeatedWords from "retext-repeated-words";
import { unified } from "unified";
import { VFile } from "vfile";

// A sentence is hard to read when five of seven formulas (Dale-Chall, ARI, Coleman-Liau, Flesch,
// Gunning fog, Spache, SMOG) ask for more schooling than a sixteen-year-old has.
const english = unified()
  .use(retextEnglish)
  .use([retextRepeatedWords, retextIndefiniteArticle, [retextReadability, { age: 16, threshold: 5 / 7 }]]);
const markdown = unified().use(remarkParse).use(remarkGfm).use(remarkRetext, english);

/** What the linter finds in a Markdown document: hard sentences, repeated words, wrong articles. */
export async function complaints(path: string, text: string): Promise<string[]> {
  const file = new VFile({ path, value: text });
  await markdown.run(markdown.parse(file), file);
  return file.messages
    .filter(({ reason }) => !/before `[fiu]\d+`/.test(reason)) // "an f64" is read by its letters
    .map((message) => `${path}:${message.line} ${message.reason}`);
}

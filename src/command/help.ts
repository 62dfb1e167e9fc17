import { type Argument, type Command, Help, type HelpConfiguration, type Option } from "commander";
import pc from "picocolors";
import { wrapped } from "./text/safe-text.ts";

// commander removes the colours where `getOutHasColors` says so.
const { bold, cyan } = pc.createColors(true);

/** A description beside its term has at least this number of columns, or else stands below it. */
const MIN_BESIDE = 26;
const INDENT = 6;

/** How commander prints the options and commands. Names alone fit into a narrow terminal. */
export const HELP_STYLE: HelpConfiguration = {
  minWidthToWrap: 10,
  subcommandTerm: (command) => command.name(),
  styleTitle: bold,
  styleCommandText: bold,
  styleOptionTerm: cyan,
  styleSubcommandTerm: cyan,
  formatItem(term, termWidth, description, helper) {
    const width = helper.helpWidth ?? 80;
    if (width - termWidth - 4 >= MIN_BESIDE || description === "")
      return Help.prototype.formatItem.call(helper, term, termWidth, description, helper);
    const lines = helper.boxWrap(description, width - INDENT).split("\n");
    return [`  ${term}`, ...lines.map((line) => " ".repeat(INDENT) + line)].join("\n");
  },
};

/**
 * The text below the options of a help, with its prose in at most `width` columns. A line that ends a sentence ends a paragraph.
 * Examples are commands, which stay as they are.
 */
export function helpText(text: string, width: number): string {
  const lines: string[] = [];
  let isExample = false;
  let paragraph = "";
  const flush = () => {
    const indent = /^ */.exec(paragraph)![0];
    lines.push(...wrapped(paragraph.trim(), width - indent.length).map((line) => indent + line));
    paragraph = "";
  };
  for (const line of text.split("\n")) {
    if (/^\S/.test(line)) isExample = /^Examples:?$/.test(line);
    const isSameIndent = /^ */.exec(line)![0] === /^ */.exec(paragraph)![0];
    if (isExample || line === "" || !isSameIndent || /[.:]$/.test(paragraph)) flush();
    if (isExample || line === "") lines.push(line);
    else paragraph = paragraph === "" ? line : `${paragraph} ${line.trim()}`;
  }
  flush();
  return lines.join("\n");
}

/** A command for programs: what it does, its arguments and its options. */
export function helpJson(command: Command): Record<string, unknown> {
  return {
    name: command.name(),
    description: command.description(),
    arguments: command.registeredArguments.map(argumentJson),
    options: command.options.map(optionJson),
  };
}

function argumentJson(argument: Argument): Record<string, unknown> {
  const { description, required: isRequired, argChoices } = argument;
  return { name: argument.name(), description, isRequired, ...(argChoices && { choices: argChoices }) };
}

function optionJson({ flags, description, mandatory, argChoices, defaultValue, envVar }: Option) {
  return {
    ...{ flags, description, isRequired: mandatory },
    ...(argChoices && { choices: argChoices }),
    ...(defaultValue !== undefined && { default: defaultValue }),
    ...(envVar !== undefined && { env: envVar }),
  };
}

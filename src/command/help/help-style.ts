import { Help, type HelpConfiguration } from "commander";
import pc from "picocolors";

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

import type { Argument, Command, Option } from "commander";

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

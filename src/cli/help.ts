import type { Command, Option } from './command.ts'
import { commands } from './registry.ts'

const HELP_OPTION: Option = { type: 'boolean', about: 'Print this help.' }

export const usageLine = ({ name, usage }: Command): string => `usage: repartee ${name} ${usage}`.trimEnd()

export function commandHelp(command: Command): string {
  const options = Object.entries<Option>({ ...command.options, help: HELP_OPTION })
  const names = options.map(([name, { value }]) => `--${name}${value === undefined ? '' : ` ${value}`}`)
  const width = Math.max(...names.map((name) => name.length))
  const lines = options.map(([, { about }], i) => `  ${names[i]!.padEnd(width)}  ${about}`)
  return [
    usageLine(command),
    '',
    command.about,
    ...(command.details === undefined ? [] : ['', command.details]),
    '',
    ...lines,
  ].join('\n')
}

/** Returns the overview of a group, e.g. `knowledge`, or of all commands. */
export async function overview(group?: string): Promise<string> {
  const names = Object.keys(commands).filter((name) => group === undefined || name.startsWith(`${group} `))
  const chosen = await Promise.all(names.map((name) => commands[name]!()))
  const lines = chosen.map(({ name, usage, about }) => `  ${`repartee ${name} ${usage}`.trimEnd()}\n      ${about}`)
  if (group !== undefined) return lines.join('\n')
  return ['Repartee: a chat service that answers from your own documents.', '', ...lines, '', FOOT].join('\n')
}

const FOOT = `\`repartee <command> --help\` explains a command. \`repartee --version\` prints the version.

The commands beside a running service find it by REPARTEE_URL and REPARTEE_KEY; without them, by the file that
\`repartee serve\` leaves in its data folder (REPARTEE_DATA, default ./data).

Exit codes: 0 done; 1 failed; 2 wrong usage; 3 wrong configuration; 4 no service found; 130 stopped by ^C.`

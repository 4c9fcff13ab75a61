import { type Command, CommandError, exitCodes, type Option } from './command.ts'
import { completions, shells } from './completion-scripts.ts'
import { nearest } from './nearest.ts'
import { commands } from './registry.ts'

export const completion: Command = {
  name: 'completion',
  usage: `<${shells.join('|')}>`,
  about: 'Print what makes a shell complete commands, their options and paths.',
  takes: [1, 1],
  details: `bash: repartee completion bash > ~/.local/share/bash-completion/completions/repartee
zsh:  repartee completion zsh > ~/.zfunc/_repartee, where fpath names ~/.zfunc before compinit
fish: repartee completion fish > ~/.config/fish/completions/repartee.fish`,
  async run(terminal, { positionals: [shell] }) {
    if (!isShell(shell!)) {
      const near = nearest(shell!, shells)
      throw new CommandError(
        `There is no completion for ${shell}.${near === undefined ? '' : ` Did you mean ${near}?`} There are ${shells.join(', ')}.`,
        exitCodes.usage,
      )
    }
    const all = await Promise.all(Object.values(commands).map((load) => load()))
    terminal.out(completions[shell](all.map(toWords)).trimEnd())
    return exitCodes.ok
  },
}

const isShell = (text: string): text is (typeof shells)[number] => (shells as readonly string[]).includes(text)

const HELP: Option = { type: 'boolean', about: 'Print this help.' }

function toWords({ name, about, options, usage }: Command) {
  const flags = Object.entries<Option>({ ...options, help: HELP }).map(([flag, { type, about }]) => ({
    name: `--${flag}`,
    takesValue: type === 'string',
    about,
  }))
  // What is asked for in angle brackets, and is one of a few words, is completed by these.
  const words = /^<([a-z]+(?:\|[a-z]+)+)>$/.exec(usage)?.[1]?.split('|') ?? []
  return { path: name.split(' '), about, flags, words }
}

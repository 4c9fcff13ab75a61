export const shells = ['bash', 'zsh', 'fish'] as const

interface Completed {
  /** The words of its name. */
  path: string[]
  about: string
  flags: { name: string; takesValue: boolean; about: string }[]
  /** What its argument may be, where that is one of a few words. */
  words: string[]
}

/** A script for each shell. They hold every name, so that completing starts no program. */
export const completions: Record<(typeof shells)[number], (all: Completed[]) => string> = { bash, zsh, fish }

/** What may follow a word, by the words before it. */
function tree(all: Completed[]): Map<string, string[]> {
  const next = new Map<string, string[]>()
  for (const { path } of all) {
    path.forEach((word, i) => {
      const before = path.slice(0, i).join(' ')
      next.set(before, [...new Set([...(next.get(before) ?? []), word])])
    })
  }
  return next
}

/** Every name, and every beginning of one, between bars. */
const beginnings = (all: Completed[]): string =>
  [...new Set(all.flatMap(({ path }) => path.map((_, i) => path.slice(0, i + 1).join(' '))))].map((name) => `|${name}|`).join('')

function bash(all: Completed[]): string {
  const groups = [...tree(all)].map(
    ([before, words]) => `    '${before}') words='${[...words, ...(before === '' ? ['--help', '--version'] : [])].join(' ')}' ;;`,
  )
  const flags = all.map(({ path, flags, words }) => {
    const names = [...words, ...flags.map(({ name }) => name)].join(' ')
    return `    '${path.join(' ')}') words='${names}' ;;`
  })
  const taking = all.map(
    ({ path, flags }) =>
      `    '${path.join(' ')}') taking=' ${flags
        .filter(({ takesValue }) => takesValue)
        .map(({ name }) => name)
        .join(' ')} ' ;;`,
  )
  return `# bash completion of repartee; made by \`repartee completion bash\`.
_repartee() {
  local current="\${COMP_WORDS[COMP_CWORD]}" command='' words='' taking='' i
  COMPREPLY=()
  # The command: the words before this one, up to the longest name that there is.
  for ((i = 1; i < COMP_CWORD; i++)); do
    case " \${_repartee_names} " in
      *"|\${command:+$command }\${COMP_WORDS[i]}|"*) command="\${command:+$command }\${COMP_WORDS[i]}" ;;
      *) break ;;
    esac
  done
  case "$command" in
${taking.join('\n')}
  esac
  # The value of an option is most often a path.
  if [[ " $taking " == *" \${COMP_WORDS[COMP_CWORD-1]} "* ]]; then
    COMPREPLY=($(compgen -f -- "$current"))
    return
  fi
  case "$command" in
${groups.join('\n')}
${flags.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if ((\${#COMPREPLY[@]} == 0)); then COMPREPLY=($(compgen -f -- "$current")); fi
}
_repartee_names='${beginnings(all)}'
complete -o filenames -F _repartee repartee
`
}

/** As zsh takes it between brackets and quotes. */
const zshText = (text: string): string => text.replace(/['’]/g, '’').replace(/[[\]:\\]/g, '\\$&')

function zsh(all: Completed[]): string {
  const groups = [...tree(all)].map(([before, words]) => {
    const described = words.map((word) => {
      const command = all.find(({ path }) => path.join(' ') === `${before} ${word}`.trim())
      return `'${word}:${zshText(command?.about ?? `${word} …`)}'`
    })
    return `    '${before}') next=(${described.join(' ')}) ;;`
  })
  const flags = all.map(({ path, flags, words }) => {
    const specs = flags.map(({ name, takesValue, about }) => `'${name}[${zshText(about)}]${takesValue ? ':value:_files' : ''}'`)
    const rest = words.length > 0 ? `'1:what:(${words.join(' ')})'` : "'*:file:_files'"
    return `    '${path.join(' ')}') _arguments ${specs.join(' ')} ${rest} ;;`
  })
  return `#compdef repartee
# zsh completion of repartee; made by \`repartee completion zsh\`.
_repartee() {
  local command='' name i=2
  # The command: the words before this one, up to the longest name that there is.
  while ((i < CURRENT)); do
    name="\${command:+$command }\${words[i]}"
    [[ "$_repartee_names" == *"|$name|"* ]] || break
    command="$name"
    ((i++))
  done
  local -a next
  _repartee_next "$command"
  if ((\${#next} > 0 && i == CURRENT)) && [[ "\${words[CURRENT]}" != -* ]]; then
    _describe 'command' next
    return
  fi
  words=(repartee "\${(@)words[i,-1]}")
  ((CURRENT -= i - 2))
  case "$command" in
${flags.join('\n')}
  esac
}
_repartee_next() {
  next=()
  case "$1" in
${groups.join('\n')}
  esac
}
_repartee_names='${beginnings(all)}'
if [[ "\${funcstack[1]}" == _repartee ]]; then _repartee "$@"; else compdef _repartee repartee; fi
`
}

const fishText = (text: string): string => `'${text.replace(/[\\']/g, '\\$&')}'`

function fish(all: Completed[]): string {
  const lines: string[] = []
  for (const [before, words] of tree(all)) {
    const isHere = before === '' ? '__fish_use_subcommand' : `__repartee_at ${before}`
    for (const word of words) {
      const about = all.find(({ path }) => path.join(' ') === `${before} ${word}`.trim())?.about ?? `${word} …`
      lines.push(`complete -c repartee -f -n '${isHere}' -a ${word} -d ${fishText(about)}`)
    }
  }
  for (const { path, flags, words } of all) {
    const isHere = `'__repartee_in ${path.join(' ')}'`
    for (const word of words) lines.push(`complete -c repartee -f -n ${isHere} -a ${word}`)
    for (const { name, takesValue, about } of flags)
      lines.push(`complete -c repartee -n ${isHere} -l ${name.slice(2)}${takesValue ? ' -r -F' : ''} -d ${fishText(about)}`)
  }
  return `# fish completion of repartee; made by \`repartee completion fish\`.
function __repartee_in
    set -l words (commandline -opc)
    set -e words[1]
    test (count $words) -ge (count $argv); and test "$words[1..$(count $argv)]" = "$argv"
end
function __repartee_at
    set -l words (commandline -opc)
    set -e words[1]
    test "$words" = "$argv"
end
${lines.join('\n')}
`
}

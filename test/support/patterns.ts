// Finds regular expressions in source text, and what they take in time on strings that are made to break them.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import vm from 'node:vm'
import ts from 'typescript-5'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

export interface Pattern {
  /** Where it stands, from the root of the project. */
  file: string
  regExp: RegExp
}

/** The literals in files, by a glob from the root of the project, each once for a file. */
export function patternsIn(glob: string): Pattern[] {
  return globSync(glob, { cwd: ROOT })
    .sort()
    .flatMap((file) => literalsIn(file, readFileSync(join(ROOT, file), 'utf8')).map((regExp) => ({ file, regExp })))
}

function literalsIn(file: string, text: string): RegExp[] {
  const found = new Map<string, RegExp>()
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/')
      found.set(node.text, new RegExp(node.text.slice(1, end), node.text.slice(end + 1)))
    }
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest))
  return [...found.values()]
}

/** What patterns are built from texts while these modules are loaded. */
export async function builtPatterns(files: readonly string[]): Promise<Pattern[]> {
  const Plain = globalThis.RegExp
  const built: Pattern[] = []
  let file = ''
  globalThis.RegExp = new Proxy(Plain, {
    construct(target, args, newTarget) {
      const regExp = Reflect.construct(target, args, newTarget) as RegExp
      built.push({ file, regExp })
      return regExp
    },
  })
  try {
    for (file of files) await import(join(ROOT, file))
  } finally {
    globalThis.RegExp = Plain
  }
  return built
}

/** More by hand: `PATTERN_CHARS=100000 node --test test/patterns.test.ts`. */
const LENGTH = Number(process.env['PATTERN_CHARS'] ?? 8_000)
const USUAL = [...' \t\na0A<[("\'#*.-=_|`\\/:;&@\ufeff\u3000字é'].concat('😀')
/** Characters of a pattern that are put before others, and between them. */
const MIXED = 4

/** Makes a string of some length. */
type Pump = (length: number) => string

/** Strings of what a pattern itself looks for. Most end in a way that it does not expect. */
export function* pumped({ source }: RegExp): Generator<Pump> {
  const own = [...new Set([...source.replaceAll(/\\[a-zA-Z]|[\\^$+?(){}]/g, '')])]
  const mixed = own.slice(0, MIXED)
  for (const char of new Set([...own, ...USUAL])) {
    yield (length) => char.repeat(length / char.length)
    yield (length) => `${char.repeat(length / char.length)}\0`
  }
  for (const one of mixed)
    for (const other of new Set([...mixed, ' ', 'a', '\n'])) {
      yield (length) => `${one}${other.repeat(length)}\0`
      yield (length) => `${(one + other).repeat(length / 2)}\0`
      yield (length) => `${(one + other.repeat(30)).repeat(length / 31)}\0`
    }
}

/** Ends what would never end by itself. */
const HANGS_MS = 2_000
const context = vm.createContext({})
const script = new vm.Script('regExp.global ? text.replace(regExp, "").length : regExp.exec(text)')

/** Looks for a pattern in a text, all of it. Returns milliseconds of the processor, which a busy machine does not add to; Infinity where that takes too long. */
function timeOf(regExp: RegExp, text: string): number {
  Object.assign(context, { regExp, text })
  regExp.lastIndex = 0
  const before = cpuMs()
  try {
    script.runInContext(context, { timeout: HANGS_MS })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
    return Number.POSITIVE_INFINITY
  }
  return cpuMs() - before
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

/** What else the machine does is not counted: of several looks the shortest. */
const LOOKS = 3
const leastOf = (regExp: RegExp, text: string): number => Math.min(...Array.from({ length: LOOKS }, () => timeOf(regExp, text)))

/** Milliseconds for a million characters; patterns that take less for a short text are not looked at more closely. */
const QUICK = 50
const LONGER = 5
/** One that is linear takes 5 times as long for a text of 5 times the length, one that takes its square 25 times. */
const MOST_TIMES = 15

/** True where the time grows faster than the length. That is told by comparing times, so that it does not depend on the speed of the machine. */
export function isSuperlinear(regExp: RegExp, pump: Pump): boolean {
  const text = pump(LENGTH)
  const first = timeOf(regExp, text)
  if (first === Number.POSITIVE_INFINITY) return true
  const quick = (QUICK * LENGTH) / 1e6
  const least = first < quick ? first : leastOf(regExp, text)
  return least >= quick && leastOf(regExp, pump(LONGER * LENGTH)) > MOST_TIMES * least
}

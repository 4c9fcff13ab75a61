// Finds regular expressions in source text, and measures their time on adversarial strings.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import vm from 'node:vm'
import ts from 'typescript-5'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

export interface Pattern {
  /** Path from the project root. */
  file: string
  regExp: RegExp
}

/** Returns the regular expression literals in files matched by a glob from the project root, each once per file. */
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

/** Returns the patterns that these modules build from texts while they load. */
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

/** Run with more by hand: `PATTERN_CHARS=100000 node --test test/patterns.test.ts`. */
const LENGTH = Number(process.env['PATTERN_CHARS'] ?? 8_000)
const USUAL = [...' \t\na0A<[("\'#*.-=_|`\\/:;&@\ufeff\u3000字é'].concat('😀')
/** Number of the pattern's characters that are combined with others. */
const MIXED = 4

/** Returns a string of a given length. */
type Pump = (length: number) => string

/** Yields generators of strings from the characters that a pattern looks for. Most end in a way that it does not expect. */
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

/** Timeout for patterns that would never end. */
const HANGS_MS = 2_000
const context = vm.createContext({})
const script = new vm.Script('regExp.global ? text.replace(regExp, "").length : regExp.exec(text)')

/** Returns the milliseconds of processor time to search a text, which other load does not affect. Infinity after a timeout. */
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

/** The minimum of several measurements excludes the machine's other load. */
const LOOKS = 3
const leastOf = (regExp: RegExp, text: string): number => Math.min(...Array.from({ length: LOOKS }, () => timeOf(regExp, text)))

/** Milliseconds per million characters. Patterns below this for a short text are not measured further. */
const QUICK = 50
const LONGER = 5
/** Maximum ratio for 5 times the length: a linear pattern takes 5 times as long, a quadratic one 25 times. */
const MOST_TIMES = 15

/** Returns whether the time grows faster than the length. Compares times, so the result does not depend on the machine's speed. */
export function isSuperlinear(regExp: RegExp, pump: Pump): boolean {
  const text = pump(LENGTH)
  const first = timeOf(regExp, text)
  if (first === Number.POSITIVE_INFINITY) return true
  const quick = (QUICK * LENGTH) / 1e6
  const least = first < quick ? first : leastOf(regExp, text)
  return least >= quick && leastOf(regExp, pump(LONGER * LENGTH)) > MOST_TIMES * least
}

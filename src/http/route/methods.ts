interface Path {
  /** Null: any segment. */
  segments: (string | null)[]
  /** More segments may follow, at least one. */
  hasRest: boolean
  methods: string[]
}

/** The methods that each path takes, for 405 answers. */
export class RouteMethods {
  readonly #paths = new Map<string, Path>()
  /** Fixed segments come first: `sessions/import` is not a session. */
  #sorted: Path[] | undefined

  /** `url`: a route pattern, with `:name` for a segment and `*` for the rest. */
  add(url: string, methods: string | readonly string[]): void {
    this.#sorted = undefined
    const names = url.split('/')
    const hasRest = names.at(-1) === '*'
    const segments = names.slice(0, hasRest ? -1 : undefined).map((name) => (name.startsWith(':') ? null : name))
    const key = `${segments.map((segment) => segment ?? ':').join('/')}${hasRest ? '/*' : ''}`
    const path = this.#paths.get(key) ?? { segments, hasRest, methods: [] }
    path.methods.push(...[methods].flat().filter((method) => !path.methods.includes(method)))
    this.#paths.set(key, path)
  }

  /** Returns undefined if there is no such path. Takes linear time, because callers choose the path, which may have 16 kB. */
  of(url: string): string[] | undefined {
    const isWild = ({ segments, hasRest }: Path): number =>
      segments.filter((segment) => segment === null).length + Number(hasRest)
    this.#sorted ??= [...this.#paths.values()].sort((a, b) => isWild(a) - isWild(b))
    const most = Math.max(...this.#sorted.map(({ segments }) => segments.length))
    const asked = url.split('?', 1)[0]!.split('/', most + 1)
    return this.#sorted.find((path) => isOf(path, asked))?.methods
  }
}

function isOf({ segments, hasRest }: Path, asked: readonly string[]): boolean {
  if (hasRest ? asked.length <= segments.length : asked.length !== segments.length) return false
  return segments.every((segment, i) => (segment === null ? asked[i] !== '' : asked[i] === segment))
}

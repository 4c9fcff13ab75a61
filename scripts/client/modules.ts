// Generates the modules of the client: one function for each operation, with an input object.
import { type ClientFunction, HANDWRITTEN, MODULES } from './functions.ts'
import {
  capital,
  contentOf,
  fieldsOf,
  idsOf,
  inputOf,
  type OpenApi,
  type Operation,
  operationsOf,
  responseOf,
} from './openapi.ts'
import { toText } from './types.ts'

/** Returns the text of each module by its name. Throws if an operation has no function, or a function no operation. */
export function clientModules(document: OpenApi, typeNames: Map<string, string>): Record<string, string> {
  const operations = new Map(operationsOf(document).map((operation) => [operation.operationId, operation]))
  const covered = [
    ...Object.values(MODULES)
      .flat()
      .map(([, id]) => id),
    ...Object.values(HANDWRITTEN).flatMap((h) => h.operations),
  ]
  const missing = new Set(covered).symmetricDifference(new Set(operations.keys()))
  if (missing.size > 0) throw new Error(`in the contract or in functions.ts, but not in both: ${[...missing].join(', ')}`)
  const entries = Object.entries(MODULES).map(([module, functions]) => {
    const parts = functions.map((fn) => new FunctionWriter(fn, functions, operations.get(fn[1])!, typeNames).write())
    const { file, names } = HANDWRITTEN[module] ?? {}
    if (names !== undefined) parts.push(`export { ${names.join(', ')} } from '../${file}'\n`)
    const own = functions.flatMap(([, id]) => [`${capital(id)}Input`, `${capital(id)}Response`])
    const types = new Set([...typeNames.values(), ...own])
    return [module, `${IMPORTS}import type { ${[...types].join(', ')} } from '../types.ts'\n\n${parts.join('\n')}`]
  })
  return Object.fromEntries(entries)
}

/** What functions may use. Biome removes what a module does not use. */
const IMPORTS = `
import type { Connection } from '../connection.ts'
import { type ExportLine, readExport } from '../lines.ts'
import { eachItem } from '../pages.ts'
import { type Call, type PostOptions, path, type RequestOptions, request } from '../request.ts'
import { resumeIn } from '../resume.ts'
import { streamTurn, type TurnStream } from '../turn.ts'
`

class FunctionWriter {
  readonly #name: string
  readonly #about: string
  readonly #siblings: ClientFunction[]
  readonly #operation: Operation
  readonly #typeNames: Map<string, string>

  constructor([name, , about]: ClientFunction, siblings: ClientFunction[], operation: Operation, typeNames: Map<string, string>) {
    this.#name = name
    this.#about = about
    this.#siblings = siblings
    this.#operation = operation
    this.#typeNames = typeNames
  }

  write(): string {
    const isReserved = ['delete', 'export', 'import'].includes(this.#name)
    const { operationId } = this.#operation
    const declared = isReserved ? `const ${operationId}` : `export const ${this.#name}`
    const exported = isReserved ? `\nexport { ${operationId} as ${this.#name} }\n` : ''
    return `${this.#callHelper()}/** ${this.#about} */\n${declared} = ${this.#function()}\n${exported}`
  }

  #function(): string {
    const { operationId } = this.#operation
    const options = `options?: ${this.#isRepeatable ? 'PostOptions' : 'RequestOptions'}`
    const given = ['to: Connection', this.#parameter('input'), options].filter((parameter) => parameter !== '').join(', ')
    if (this.#name.startsWith('iterate')) {
      const [field, { items }] = Object.entries(responseOf(this.#operation).properties!).find(
        ([, { items }]) => items !== undefined,
      )!
      const [list] = this.#siblings.find(([, id]) => id === operationId)!
      const item = this.#typeNames.get(toText(items!))
      return `(${given}): AsyncGenerator<${item}, void> =>
        eachItem(input, (page) => ${list}(to, page, options), (page) => page.${field})`
    }
    if (this.#name.startsWith('stream')) {
      const resume = idsOf(this.#operation).includes('sessionId') ? 'resumeIn(input)' : '() => undefined'
      return `(${given}): TurnStream => streamTurn(to, { first: ${operationId}Call(input), resume: ${resume} }, options)`
    }
    const taken = ['to: Connection', this.#parameter(), options].filter((parameter) => parameter !== '').join(', ')
    if (contentOf(this.#operation)['application/x-ndjson'] !== undefined)
      return `(${taken}): AsyncGenerator<ExportLine, void> => readExport(to, ${this.#call()}, options)`
    const response = this.#typeNames.get(toText(responseOf(this.#operation))) ?? `${capital(operationId)}Response`
    return this.#isStreamed
      ? `(${given}): Promise<${response}> => request(to, ${operationId}Call(input), options)`
      : `(${taken}): Promise<${response}> => request(to, ${this.#call()}, options)`
  }

  /** The functions that send and stream share the request. It is declared before the first of them. */
  #callHelper(): string {
    if (!this.#isStreamed || this.#name.startsWith('stream')) return ''
    return `const ${this.#operation.operationId}Call = (${this.#parameter()}): Call => (${this.#call()})\n\n`
  }

  /** Returns the parameter for the input: whole by the given name, or taken apart. Returns '' for an operation without input. */
  #parameter(name = this.#apart()): string {
    const { properties, required } = inputOf(this.#operation)
    if (Object.keys(properties!).length === 0) return ''
    return `${name}: ${capital(this.#operation.operationId)}Input${required!.length === 0 ? ' = {}' : ''}`
  }

  #apart(): string {
    const ids = idsOf(this.#operation)
    const rest = fieldsOf(this.#operation) === undefined ? [] : [`...${this.#fieldsName}`]
    return ids.length === 0 ? 'input' : `{ ${[...ids, ...rest].join(', ')} }`
  }

  #call(): string {
    const { method, path } = this.#operation
    const value = idsOf(this.#operation).length === 0 ? ': input' : ''
    const fields = fieldsOf(this.#operation) === undefined ? '' : `, ${this.#fieldsName}${value}`
    const secret = method === 'POST' && !this.#isRepeatable ? ', keepsNoAnswer: true' : ''
    return `{ method: '${method}', path: path\`${path.replaceAll('{', '${')}\`${fields}${secret} }`
  }

  get #fieldsName(): string {
    return this.#operation.method === 'GET' ? 'query' : 'body'
  }

  get #isStreamed(): boolean {
    return contentOf(this.#operation)['text/event-stream'] !== undefined
  }

  /** The service stores no response that contains a secret, so it takes no Idempotency-Key for it. */
  get #isRepeatable(): boolean {
    const { secret, token } = responseOf(this.#operation).properties ?? {}
    return this.#operation.method === 'POST' && secret === undefined && token === undefined
  }
}

import { ReparteeError } from '../core/errors.ts'
import type { ChatModel, Finish, ModelRequest, ModelUsage, PromptMessage } from '../core/ports/model.ts'
import type { Provider } from './provider.ts'
import { brokeOff, endedEarly, failed, notUnderstood, stopped } from './transport/failure.ts'
import { openFetch } from './transport/fetch.ts'
import { GrowingText } from './transport/growing-text.ts'
import { tooMuch } from './transport/http.ts'
import { count, type ModelOutcome, toReply } from './transport/reply.ts'
import { type LanguageModel, type VendorProtocol, vendors } from './vendors.ts'

type Options = Parameters<LanguageModel['doStream']>[0]
type Whole = Awaited<ReturnType<LanguageModel['doGenerate']>>
type Part = Awaited<ReturnType<LanguageModel['doStream']>>['stream'] extends ReadableStream<infer P> ? P : never
type Ending = Whole['finishReason']

/** The packages require a key, and would otherwise read one from the environment. This one is never sent. */
const NO_KEY = 'no-key-is-configured'

/** The packages parse this many in tens of milliseconds. An event of a reply has a few hundred. */
const MOST_VALUES = 20_000

/** Limit for parts of a stream that are neither text nor reasoning, such as tool calls. They are unused, but the packages buffer them to the end. */
const MOST_USELESS_CHARS = 65_536
/** Size of such a part in addition to its text. */
const PART_CHARS = 100

/** Opens a model through a vendor's package of the AI SDK, by the interface that all packages share. */
export function vendorModel(name: string, provider: Provider & { protocol: VendorProtocol }): ChatModel {
  const vendor = vendors[provider.protocol]
  const { apiKey = NO_KEY, headers } = provider
  const baseURL = vendor.toBaseUrl(provider.baseUrl)
  let loading: ReturnType<typeof vendor.load> | undefined
  return {
    async generate(request, { signal, onText, keyId }) {
      loading ??= vendor.load()
      const open = await loading.catch((cause: unknown) => {
        loading = undefined
        throw failed(`the package ${vendor.package} cannot be loaded`, { cause })
      })
      const ended = new AbortController()
      try {
        const fetch = openFetch(
          { agentId: request.grounding.agentId, keyId },
          {
            mostValues: MOST_VALUES,
            stream: onText && { sift: vendor.sift.event, onBytes: () => onText('') },
            siftWhole: vendor.sift.whole,
            leaveOut: NO_KEY,
          },
        )
        const model = open({ baseURL, apiKey, headers, fetch }, name)
        const options = toOptions(request, AbortSignal.any([signal, ended.signal]), vendor)
        const outcome = onText
          ? await readParts(await model.doStream(options), onText)
          : toOutcome(await model.doGenerate(options), vendor.saysWhyItEnded)
        return toReply(name, outcome)
      } catch (error) {
        throw translated(error, signal)
      } finally {
        // A package that throws may leave its answer and the connection open.
        ended.abort()
      }
    },
  }
}

function toOptions(request: ModelRequest, abortSignal: AbortSignal, vendor: (typeof vendors)[VendorProtocol]): Options {
  const { prompt, temperature, maxOutputTokens, json } = request
  const cached = vendor.cacheOptions && { providerOptions: vendor.cacheOptions }
  return {
    prompt: prompt.map((message, i) => ({
      ...toMessage(message),
      ...(message.role === 'system' || i === prompt.length - 2 ? cached : {}),
    })),
    ...(temperature === null ? {} : { temperature }),
    ...(maxOutputTokens === null ? {} : { maxOutputTokens }),
    ...(json ? { responseFormat: { type: 'json', ...json } } : {}),
    providerOptions: vendor.options,
    abortSignal,
  }
}

function toMessage({ role, content }: PromptMessage): Options['prompt'][number] {
  return role === 'system' ? { role, content } : { role, content: [{ type: 'text', text: content }] }
}

function toOutcome({ content, structuredOutputText, finishReason, usage }: Whole, saysWhyItEnded: boolean): ModelOutcome {
  if (saysWhyItEnded && finishReason.raw === undefined) throw notUnderstood()
  const text = structuredOutputText ?? content.map((part) => (part.type === 'text' ? part.text : '')).join('')
  return { text, finish: toFinish(finishReason), usage: toUsage(usage) }
}

/** Reads a stream. A failure is one of its parts, so a broken reply is not mistaken for a short one. */
async function readParts({ stream }: { stream: ReadableStream<Part> }, onText: (text: string) => void): Promise<ModelOutcome> {
  const reader = stream.getReader()
  const text = new GrowingText()
  let uselessChars = 0
  let end: (Part & { type: 'finish' }) | undefined
  const pieces = new Joined(onText)
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (pieces.failure !== undefined) throw pieces.failure.error
      if (done) break
      if (value.type === 'error') throw brokenBy(value.error)
      if (value.type === 'finish') end = value
      uselessChars += uselessCharsOf(value)
      if (uselessChars > MOST_USELESS_CHARS) throw tooMuch()
      if (value.type !== 'text-delta' || value.delta === '') continue
      text.add(value.delta)
      pieces.add(value.delta)
    }
    pieces.tell()
  } catch (error) {
    pieces.tell()
    reader.cancel().catch(() => {})
    throw error
  }
  if (end === undefined) throw endedEarly()
  return { text: text.toString(), finish: toFinish(end.finishReason), usage: toUsage(end.usage) }
}

function uselessCharsOf(part: Part): number {
  if (part.type === 'text-delta' || part.type === 'reasoning-delta') return 0
  return PART_CHARS + (part.type === 'tool-input-delta' ? part.delta.length : 0)
}

/** Joins the pieces that arrive in one turn of the event loop: one event may contain thousands, and each call of `onText` takes time. */
class Joined {
  /** The error that `onText` threw. */
  failure: { error: unknown } | undefined
  #pieces = ''
  readonly #onText: (text: string) => void

  constructor(onText: (text: string) => void) {
    this.#onText = onText
  }

  add(piece: string): void {
    if (this.#pieces === '') setImmediate(() => this.#tryTell())
    this.#pieces += piece
  }

  /** Passes on the text that arrived since the last call. */
  tell(): void {
    const text = this.#pieces
    this.#pieces = ''
    if (text !== '') this.#onText(text)
  }

  #tryTell(): void {
    try {
      this.tell()
    } catch (error) {
      this.failure = { error }
    }
  }
}

/** Throws if the end of the text did not arrive. A reply that the provider ended for reasons of its own counts as filtered. */
function toFinish({ unified, raw }: Ending): Finish {
  if (unified === 'interrupted') throw endedEarly()
  if (unified === 'error') throw brokeOff(raw)
  if (unified === 'other' && raw === undefined) throw endedEarly()
  if (unified === 'length') return 'length'
  return unified === 'content-filter' || unified === 'other' ? 'filtered' : 'stop'
}

const toUsage = ({ inputTokens, outputTokens }: Whole['usage']): ModelUsage | null =>
  inputTokens.total === undefined && outputTokens.total === undefined
    ? null
    : { tokensIn: count(inputTokens.total), tokensOut: count(outputTokens.total), tokensCached: count(inputTokens.cacheRead) }

const brokenBy = (error: unknown): unknown => ours(error) ?? brokeOff((error as Error | null)?.message)

/** Unwraps our own errors. Any other error means that the package did not expect the answer. */
function translated(error: unknown, signal: AbortSignal): ReparteeError {
  const own = ours(error)
  if (own !== undefined) return own
  if (signal.aborted) return stopped(signal)
  const { name, message } = error as Error
  // Logs leave out only the message of a plain error, so the package's message goes into one.
  if (NOT_SENT.test(name)) return failed('the request cannot be put to this model', { cause: new Error(message) })
  return notUnderstood(new Error(message))
}

/** Errors of the packages before anything is sent. */
const NOT_SENT = /^AI_(InvalidPrompt|InvalidArgument|UnsupportedFunctionality|LoadSetting|LoadAPIKey|NoSuchModel)/

function ours(error: unknown): ReparteeError | undefined {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof ReparteeError) return at
  return undefined
}

import { Agent as HttpAgent, request as httpRequest, type RequestOptions } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { ReparteeError } from '../core/errors.ts'

const httpAgent = new HttpAgent({ keepAlive: true })
const httpsAgent = new HttpsAgent({ keepAlive: true })

export interface PostOptions {
  headers: Record<string, string>
  /** Until the first byte of the answer. */
  timeoutMs: number
  maxBytes: number
  signal: AbortSignal
}

/** Posts JSON to a model provider. Throws `model_timeout` or `model_failed`; the provider's own words go to the error's cause only. */
export async function postJson(url: URL, body: unknown, options: PostOptions): Promise<unknown> {
  const { status, text } = await exchange(url, JSON.stringify(body), options)
  if (status < 200 || status > 299) throw failed(`the provider answered ${status}`, new Error(text.slice(0, 2_000)))
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw failed('the provider answered with something that is no JSON', cause)
  }
}

function exchange(
  url: URL,
  body: string,
  { headers, timeoutMs, maxBytes, signal }: PostOptions,
): Promise<{ status: number; text: string }> {
  const secure = url.protocol === 'https:'
  const options: RequestOptions = {
    method: 'POST',
    agent: secure ? httpsAgent : httpAgent,
    signal,
    headers: { ...headers, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
  }
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => request.destroy(new ReparteeError('model_timeout', 'The model did not answer in time.')),
      timeoutMs,
    )
    const fail = (cause: Error) => {
      clearTimeout(timer)
      reject(cause instanceof ReparteeError ? cause : failed('the connection to the provider broke', cause))
    }
    const request = (secure ? httpsRequest : httpRequest)(url, options, (response) => {
      clearTimeout(timer)
      const chunks: Buffer[] = []
      let bytes = 0
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk)
        bytes += chunk.length
        if (bytes > maxBytes) request.destroy(failed('the provider sent more than a reply can hold'))
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }))
      response.on('error', fail)
      response.on('aborted', () => fail(failed('the provider cut the connection')))
    })
    request.on('error', fail)
    request.end(body)
  })
}

export const failed = (why: string, cause?: unknown) =>
  new ReparteeError('model_failed', `The model failed: ${why}.`, cause === undefined ? {} : { cause })

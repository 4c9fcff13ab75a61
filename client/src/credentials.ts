import { ReparteeError } from './errors.ts'

/** Gets a token that is good now, for example from the server of the page. */
export type GetToken = () => string | Promise<string>

/** What a request is made with: a key, a token, or a function that gets tokens. */
export interface Credentials {
  /** The key or token to send; undefined where something else puts one in. */
  get(): Promise<string | undefined>
  /** One to use after this one was refused; undefined where there is no other. */
  renew(refused: string | undefined): Promise<string | undefined>
}

/** A token is kept until it is refused, and got once however many requests want it. */
export function credentials({ key, token }: { key?: string | undefined; token?: string | GetToken | undefined }): Credentials {
  if (key !== undefined && token !== undefined) throw new TypeError('Give a key or a token, not both.')
  if (typeof token !== 'function') return { get: async () => key ?? token, renew: async () => undefined }
  let current: Promise<string> | undefined
  const fetchToken = () => {
    const asked = Promise.resolve().then(token)
    current = asked
    asked.catch(() => {
      if (current === asked) current = undefined
    })
    return asked
  }
  const get = () => (current ?? fetchToken()).catch(refuse)
  return {
    get,
    async renew(refused) {
      if ((await get()) === refused) current = undefined
      return get()
    },
  }
}

function refuse(cause: unknown): never {
  if (cause instanceof ReparteeError) throw cause
  throw new ReparteeError('connection_failed', 'The function that gets tokens failed.', { cause })
}

/** A setting of the service. */
export interface Setting {
  /** The environment variable. The configuration file uses camel case without the prefix: `REPARTEE_MAX_BODY_BYTES` is `maxBodyBytes`. */
  env: string
  kind: 'text' | 'integer' | 'switch' | 'secret' | 'providers'
  /** `key`: printable ASCII characters only. `url`: an http or https URL. */
  form?: 'key' | 'url'
  fallback?: string | number | boolean
  min?: number
  max?: number
  about: string
}

/** 2^31 - 1: the longest timer. */
export const MAX_MS = 2_147_483_647

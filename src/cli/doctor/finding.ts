/** The result of one check. */
export interface Finding {
  name: string
  state: 'ok' | 'warn' | 'fail'
  message: string
  /** How to fix it. */
  advice?: string
}

export const ok = (name: string, message: string): Finding => ({ name, state: 'ok', message })
export const warn = (name: string, message: string, advice: string): Finding => ({ name, state: 'warn', message, advice })
export const fail = (name: string, message: string, advice: string): Finding => ({ name, state: 'fail', message, advice })

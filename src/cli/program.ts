/** Returns how the user called this program: by its name, or by npm in the folder of a clone. */
export const program = ({ npm_lifecycle_event: script }: NodeJS.ProcessEnv): string =>
  script === 'start' ? 'npm start --' : 'repartee'

/** Returns a text for people with its commands as the reader has to type them. */
export function asTyped(text: string, env: NodeJS.ProcessEnv): string {
  const name = program(env)
  return name === 'repartee'
    ? text
    : text.replace(/\brepartee serve\b/g, 'npm start').replace(/\brepartee (?=[a-z<-])/g, `${name} `)
}

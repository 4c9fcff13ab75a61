/** How this program is called where it was called from: by its name, or by npm in the folder of a clone. */
export const program = ({ npm_lifecycle_event: script }: NodeJS.ProcessEnv): string =>
  script === 'start' ? 'npm start --' : 'repartee'

/** A command in a text for people, such as a help page or an error, as its reader has to type it. */
export function asTyped(text: string, env: NodeJS.ProcessEnv): string {
  const name = program(env)
  return name === 'repartee'
    ? text
    : text.replace(/\brepartee serve\b/g, 'npm start').replace(/\brepartee (?=[a-z<-])/g, `${name} `)
}

/** The whole JSON text of an answer. It is sent unchanged, and not checked against the contract. */
export class JsonText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** The whole JSON text of an answer. It is sent as it is: nothing checks it against the contract. */
export class JsonText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

const MAX_CHARACTERS = 16_384;

/** Drains a process's output (a full pipe would stall it) and keeps its beginning and end. */
export class ProcessOutput {
  /** The first part of stdout. */
  start = "";
  onPrinted = () => {};
  /** Resolves when both streams are closed. */
  readonly ended: Promise<unknown>;
  #end = "";

  constructor(stdout: ReadableStream<Uint8Array>, stderr: ReadableStream<Uint8Array>) {
    this.ended = Promise.all([this.#read(stdout, true), this.#read(stderr, false)]);
  }

  /** The last few lines, without stack traces and source excerpts. */
  lastOutput(): string {
    return this.#end
      .split("\n")
      .filter((line) => line.trim() !== "" && !/^\s*(at |\d+ \||\^)/.test(line))
      .slice(-5)
      .map((line) => line.replace(/sk_gw_api_[\w-]+/g, "sk_gw_api_…").slice(0, 400))
      .join(" | ");
  }

  async #read(stream: ReadableStream<Uint8Array>, isStdout: boolean): Promise<void> {
    const decoder = new TextDecoder();
    for await (const piece of stream) {
      const text = decoder.decode(piece, { stream: true });
      this.#end = (this.#end + text).slice(-MAX_CHARACTERS);
      if (isStdout && this.start.length < MAX_CHARACTERS) {
        this.start += text;
        this.onPrinted();
      }
    }
  }
}

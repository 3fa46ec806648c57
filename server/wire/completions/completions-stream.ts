import { type Choice, ChunkStream, type ChunkStreamOptions } from "../openai/chunk-stream.ts";

/** A streamed completion passed through without translation. */
export class CompletionsStream extends ChunkStream {
  constructor(options: ChunkStreamOptions) {
    super("text", options);
  }

  protected lengthOf(choice: Choice): number {
    return typeof choice.text === "string" ? choice.text.length : 0;
  }
}

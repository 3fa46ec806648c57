import { chatOutputLength, hasChatMedia } from "./output.ts";
import { type Choice, ChunkStream, type ChunkStreamOptions } from "../chunk-stream.ts";

/** A chat completion stream passed through without translation. */
export class ChatStream extends ChunkStream {
  constructor(options: ChunkStreamOptions) {
    super("content", options);
  }

  protected lengthOf(choice: Choice): number {
    return chatOutputLength(choice.delta);
  }

  protected override hasMedia(choice: Choice): boolean {
    return hasChatMedia(choice.delta);
  }
}

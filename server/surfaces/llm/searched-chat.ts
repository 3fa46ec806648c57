import { estimated } from "../../road/metering/stream-usage.ts";
import { readChatReply } from "../../wire/openai/chat/reply.ts";
import { ChatStream } from "../../wire/openai/chat/stream.ts";
import type { ChunkStreamOptions } from "../../wire/openai/chunk-stream.ts";
import type { Usage } from "../../wire/usage.ts";

/*
 * Chat completions with the vendor's web search (`web_search_options`): one search each, before the answer begins, for a fee that the
 * format's usage does not include.
 */

/** For a whole answer. */
export function readSearchedReply(bytes: Uint8Array, inputCharacters: number): ReturnType<typeof readChatReply> {
  const read = readChatReply(bytes);
  return read === null ? null : { ...read, usage: searched(read.usage ?? estimated(inputCharacters, read.outputCharacters)) };
}

/** For a streamed answer. The search happened even if the caller disconnects before usage is reported. */
export class SearchedStream extends ChatStream {
  private readonly inputCharacters: number;

  constructor(options: ChunkStreamOptions, inputCharacters: number) {
    super(options);
    this.inputCharacters = inputCharacters;
  }

  override get usage(): Usage | null {
    const usage = super.usage ?? (this.begun ? estimated(this.inputCharacters, this.outputLength) : null);
    return usage === null ? null : searched(usage);
  }
}

function searched(usage: Usage): Usage {
  return { ...usage, webSearches: 1 };
}

import { objectInJson } from "../../kernel/json-value.ts";
import { filledOf, objectOf, stringOf } from "../openai/loose-fields.ts";
import { concat } from "../streams/adjoining-bytes.ts";
import { frameData } from "../streams/sse-data.ts";
import { FrameCutter } from "../streams/sse-frames.ts";
import type { StreamCodec, StreamEnding, StreamPiece } from "../streams/stream.ts";
import type { Usage } from "../usage.ts";
import { realtimeUsage } from "./usage.ts";

const decoder = new TextDecoder();

/** The events of one response, framed as server-sent events. The final event is held back until the audit row is sealed. */
export class RealtimeStream implements StreamCodec {
  private readonly cutter = new FrameCutter();
  private readonly closing: Uint8Array[] = [];
  private finished = false;
  usage: Usage | null = null;
  outputLength = 0;
  begun = false;
  providerError: string | null = null;

  get closed(): boolean {
    return this.closing.length > 0;
  }

  push(piece: Uint8Array): StreamPiece {
    const passed = this.cutter.push(piece).filter((frame) => this.passes(frame));
    return passed.length === 0 ? null : concat(passed);
  }

  end(): StreamEnding {
    return {
      complete: this.finished && this.providerError === null,
      last: this.closing.length === 0 ? null : concat(this.closing),
      errorReported: this.providerError !== null,
    };
  }

  private passes(frame: Uint8Array): boolean {
    const event = objectInJson(frameData(decoder.decode(frame)) ?? "");
    const type = filledOf(event?.type) ?? "";
    if (event !== null && type.endsWith(".delta")) {
      this.outputLength += stringOf(event.delta)?.length ?? 0;
      this.begun = true;
    }
    if (event !== null && type === "response.done") {
      const response = objectOf(event.response);
      this.usage = realtimeUsage(response?.usage);
      this.finished = true;
      this.begun = true;
      const failure = objectOf(objectOf(response?.status_details)?.error);
      if (response?.status === "failed")
        this.providerError = filledOf(failure?.message) ?? filledOf(failure?.code) ?? "the provider let the response fail";
    }
    if (event !== null && type === "error")
      this.providerError ??= filledOf(objectOf(event.error)?.message) ?? "the provider reported an error";
    if (!this.finished && type !== "error" && !this.closed) return true;
    this.closing.push(frame);
    return false;
  }
}

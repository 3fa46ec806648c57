import type { Frame } from "../../../road/output/frames.ts";
import type { TextPiece } from "../../../wire/texts/answer-texts.ts";
import type { HoldBack } from "./hold-back.ts";

/** A text of an answer that arrives in pieces. */
export interface TextChannel {
  readonly hold: HoldBack;
  /** The frame with its newest piece, and the place of that piece. */
  latest: Frame;
  piece: TextPiece;
  /** For a block that continues another one of its flow: all its text as received and as sent, in case it is repeated as a whole. */
  readonly continued: { came: string; left: string } | null;
}

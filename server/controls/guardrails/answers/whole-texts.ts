import type { AnswerContents, TextPiece } from "../../../wire/texts/answer-texts.ts";

/** The contents of a complete answer, in which a text that is in one piece and continues no other is inspected as a whole. */
export function wholeTexts(contents: AnswerContents): AnswerContents {
  const { pieces, wholes, calls, others, ends, finishes, tokens, passages } = contents;
  const [channels, flows] = [new Map<string, number>(), new Map<string, number>()];
  const count = (of: Map<string, number>, name: string | undefined) => name !== undefined && of.set(name, (of.get(name) ?? 0) + 1);
  for (const { channel } of pieces) count(channels, channel);
  for (const { flow } of [...pieces, ...wholes]) count(flows, flow);
  const isWhole = ({ channel, flow }: TextPiece) => channels.get(channel) === 1 && (flow === undefined || flows.get(flow) === 1);
  const alone = pieces.filter((piece) => isWhole(piece) && piece.holder[piece.key] !== "");
  return {
    pieces: pieces.filter((piece) => !isWhole(piece)),
    wholes: [...alone.map(({ holder, key }) => ({ holder, key, kind: "text" as const })), ...wholes],
    calls,
    others,
    ends,
    finishes,
    tokens,
    passages: passages.map((passage) => ({
      ...passage,
      places: passage.places ?? pieces.filter(({ channel }) => channel === passage.channel),
    })),
  };
}

interface TaskMessage {
  readonly key: string;
  readonly by: "user" | "agent" | "artifact";
  readonly text: string;
}

type Members = Readonly<Record<string, unknown>>;
const membersOf = (value: unknown): Members =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Members) : {};
const listOf = (value: unknown): readonly Members[] => (Array.isArray(value) ? value.map(membersOf) : []);

/** A part of a message as text; files by their name or URL. */
function partText({ text, data, url, filename, mediaType }: Members): string {
  if (typeof text === "string") return text;
  if (data !== undefined) return JSON.stringify(data, null, 2);
  return [filename, url, mediaType].filter((one) => typeof one === "string" && one !== "").join(", ");
}

const textOf = ({ parts }: Members) => listOf(parts).map(partText).join("\n");

/** The messages and artifacts of a task (an A2A 1.0 object), in order. */
export function textsOfTask(task: unknown): readonly TaskMessage[] {
  const { history, status, artifacts } = membersOf(task);
  const messages = [...listOf(history), membersOf(membersOf(status)["message"])];
  const entries = messages.map((message, at) => ({
    key: `message ${at}`,
    by: message["role"] === "ROLE_USER" ? ("user" as const) : ("agent" as const),
    text: textOf(message),
  }));
  const made = listOf(artifacts).map((artifact, at) => {
    // Streamed pieces are joined into one text.
    const pieces = listOf(artifact["parts"]);
    const isText = pieces.every(({ text }) => typeof text === "string");
    const text = isText ? pieces.map(({ text: piece }) => String(piece)).join("") : textOf(artifact);
    return { key: `artifact ${at}`, by: "artifact" as const, text };
  });
  return [...entries, ...made].filter(({ text }) => text !== "");
}

import type { AgentTaskRow } from "../../directory/agents/tasks.ts";
import { isStorableText, isStorableTime } from "../../kernel/text/storable.ts";

interface PageToken {
  readonly at: Date;
  readonly id: string;
}

export function readTaskPageToken(token: string): PageToken | null {
  try {
    const [at, id] = JSON.parse(Buffer.from(token, "base64url").toString()) as [unknown, unknown];
    if (typeof at !== "string" || typeof id !== "string" || !isStorableTime(new Date(at)) || !isStorableText(id)) return null;
    return { at: new Date(at), id };
  } catch {
    return null;
  }
}

export const taskPageTokenOf = ({ status_at: at, id }: AgentTaskRow) =>
  Buffer.from(JSON.stringify([at.toISOString(), id])).toString("base64url");

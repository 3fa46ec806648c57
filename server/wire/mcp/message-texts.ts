import { textOf } from "../json-leaves.ts";

/** Members whose values are the protocol's own or no text: names of kinds, addresses, bytes, times, what only programs read. */
const WORDLESS = new Set(["jsonrpc", "id", "type", "role", "method", "mode", "mimeType", "format", "uri", "url", "data", "blob", "icons", "annotations", "_meta", "resultType", "requestState", "taskId", "status", "createdAt", "lastUpdatedAt", "cacheScope"]);
/** What a tool gives as data of its own: there a name or a whole number may say as much as a text. */
const FREE = "structuredContent";

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],]|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

interface Level {
  readonly object: boolean;
  readonly wordless: boolean;
  readonly free: boolean;
  /** The name whose value comes next; null where a name comes next, and in lists. */
  name: string | null;
}

/**
 * Writes a message of a tool server anew with its texts as `change` gives them; what `change` leaves as it is keeps its
 * exact spelling. A member that stands twice is looked at twice. The text must already have parsed as JSON.
 */
export function replaceMessageTexts(message: string, change: (text: string) => string): string {
  const levels: Level[] = [];
  return message.replace(TOKEN, (token) => {
    const level = levels.at(-1);
    const wordless = level !== undefined && (level.wordless || (!level.free && level.name !== null && WORDLESS.has(level.name)));
    const free = level !== undefined && (level.free || level.name === FREE);
    if (token === "{" || token === "[") {
      levels.push({ object: token === "{", wordless, free, name: null });
      return token;
    }
    if (token === "}" || token === "]") levels.pop();
    if (token === "}" || token === "]" || token === ",") {
      const around = levels.at(-1);
      if (around !== undefined && token === ",") around.name = null;
      return token;
    }
    if (!token.startsWith('"')) return free && !wordless && /^-?\d+$/.test(token) ? written(token, token, change) : token;
    const text = textOf(token);
    if (level?.object === true && level.name === null) {
      level.name = text;
      return level.free && !level.wordless ? written(token, text, change) : token;
    }
    return wordless ? token : written(token, text, change);
  });
}

function written(token: string, text: string, change: (text: string) => string): string {
  const changed = change(text);
  return changed === text ? token : JSON.stringify(changed);
}

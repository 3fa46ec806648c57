import { isRefusal } from "../../kernel/errors.ts";
import type { Surface } from "../../road/surface.ts";
import type { FilesInMessages } from "../../services/files/in-messages.ts";

/** Resolves files that messages refer to before the surface reads them, so that every control inspects them too. */
export function withFiles(files: FilesInMessages, surface: Surface): Surface {
  const { namesFiles } = surface;
  if (namesFiles === undefined) return surface;
  return {
    ...surface,
    read(call, body) {
      const whole = body === null ? null : files.put(call, body, namesFiles);
      if (!(whole instanceof Promise)) return surface.read(call, whole);
      return whole.then((filled) => (isRefusal(filled) ? filled : surface.read(call, filled)));
    },
  };
}

import type { GovernedRoute } from "../../road/road-parts.ts";
import type { Surface } from "../../road/surface.ts";
import type { FileService } from "../../services/files/caller.ts";
import {
  anthropicFileContent,
  anthropicFileDelete,
  anthropicFileDetail,
  anthropicFileList,
  anthropicFileUpload,
} from "./anthropic-files.ts";
import { fileDelete, fileDetail, fileList, filesOfChatDelete, fileUpload, fileUrl } from "./files.ts";
import { fileContent } from "./signed-content.ts";
import { openaiFileContent, openaiFileDelete, openaiFileDetail, openaiFileList, openaiFileUpload } from "./openai-files.ts";

interface FileServices {
  readonly files: FileService;
  readonly publicUrl: string | null;
}

interface FileRoute extends Omit<GovernedRoute, "surface"> {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly surface: (services: FileServices) => Surface;
}

function route(
  method: FileRoute["method"],
  path: string,
  proxySubtype: string,
  surface: (files: FileService) => Surface,
  more: Partial<Pick<FileRoute, "body" | "admits">> = {},
): FileRoute {
  return { method, path, surface: ({ files }) => surface(files), audit: { proxyType: "llm", proxySubtype }, body: false, ...more };
}

const FILES = "/v1/proxy/files";
const OPENAI = "/v1/proxy/llm/files";
const ANTHROPIC = "/v1/files";

/** Every route of files. */
export const FILE_SURFACES: readonly FileRoute[] = [
  route("POST", FILES, "file_upload", fileUpload, { body: "streamed" }),
  route("GET", FILES, "file_list", fileList),
  route("DELETE", FILES, "file_delete", filesOfChatDelete),
  route("GET", `${FILES}/:file_id`, "file_detail", fileDetail),
  { ...route("GET", `${FILES}/:file_id/url`, "file_url", fileDetail), surface: ({ files, publicUrl }) => fileUrl(files, publicUrl) },
  // Whoever has a signed address needs nothing else.
  route("GET", `${FILES}/:file_id/content`, "file_content", fileContent, { admits: "key_or_none" }),
  route("DELETE", `${FILES}/:file_id`, "file_delete", fileDelete),
  route("POST", OPENAI, "file_upload", openaiFileUpload, { body: "streamed" }),
  route("GET", OPENAI, "file_list", openaiFileList),
  route("GET", `${OPENAI}/:file_id`, "file_detail", openaiFileDetail),
  route("GET", `${OPENAI}/:file_id/content`, "file_content", openaiFileContent),
  route("DELETE", `${OPENAI}/:file_id`, "file_delete", openaiFileDelete),
  route("POST", ANTHROPIC, "file_upload", anthropicFileUpload, { body: "streamed" }),
  route("GET", ANTHROPIC, "file_list", anthropicFileList),
  route("GET", `${ANTHROPIC}/:file_id`, "file_detail", anthropicFileDetail),
  route("GET", `${ANTHROPIC}/:file_id/content`, "file_content", anthropicFileContent),
  route("DELETE", `${ANTHROPIC}/:file_id`, "file_delete", anthropicFileDelete),
];

import type { GovernedRoute } from "../../road/road-parts.ts";
import type { Surface } from "../../road/surface.ts";
import type { FileService } from "../../services/files/caller.ts";
import type { ResumableUploadService } from "../../services/files/resumable-upload.ts";
import type { RunAccess } from "../../services/runs/run-access.ts";
import { byVendor } from "../by-vendor.ts";
import {
  anthropicFileContent,
  anthropicFileDelete,
  anthropicFileDetail,
  anthropicFileList,
  anthropicFileUpload,
} from "./anthropic-files.ts";
import { geminiFileContent, geminiFileDelete, geminiFileDetail, geminiFileList } from "./gemini-files.ts";
import { geminiFileUpload } from "./gemini-uploads.ts";
import { fileDelete, fileDetail, fileList, filesOfChatDelete, fileUpload, fileUrl } from "./files.ts";
import { fileContent } from "./signed-content.ts";
import { openaiFileContent, openaiFileDelete, openaiFileDetail, openaiFileList, openaiFileUpload } from "./openai-files.ts";

interface FileServices extends ResumableUploadService {
  readonly runs: Pick<RunAccess, "join">;
  readonly publicUrl: string | null;
}

interface FileRoute extends Omit<GovernedRoute, "surface"> {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly surface: (services: FileServices) => Surface;
}

type More = Partial<Pick<FileRoute, "body" | "admits">>;

function served(
  method: FileRoute["method"],
  path: string,
  proxySubtype: string,
  surface: FileRoute["surface"],
  more: More = {},
): FileRoute {
  return { method, path, surface, audit: { proxyType: "llm", proxySubtype }, body: false, ...more };
}

/** A route whose surface needs only the files. */
function route(
  method: FileRoute["method"],
  path: string,
  proxySubtype: string,
  surface: (files: FileService) => Surface,
  more: More = {},
): FileRoute {
  return served(method, path, proxySubtype, ({ files }) => surface(files), more);
}

const FILES = "/v1/proxy/files";
const OPENAI = "/v1/proxy/llm/files";
const ANTHROPIC = "/v1/files";
const GEMINI = "/v1beta/files";

const googleList: FileRoute["surface"] = ({ files, publicUrl }) => geminiFileList(files, publicUrl);
const googleDetail: FileRoute["surface"] = ({ files, publicUrl }) => geminiFileDetail(files, publicUrl);
/** Google's clients use v1beta and v1, Anthropic's only v1. */
const byClient =
  (anthropic: (files: FileService) => Surface, google: FileRoute["surface"]): FileRoute["surface"] =>
  (services) =>
    byVendor(anthropic(services.files), google(services));

/** All routes of files. */
export const FILE_SURFACES: readonly FileRoute[] = [
  route("POST", FILES, "file_upload", fileUpload, { body: "streamed" }),
  route("GET", FILES, "file_list", fileList),
  route("DELETE", FILES, "file_delete", filesOfChatDelete),
  route("GET", `${FILES}/:file_id`, "file_detail", fileDetail),
  served("GET", `${FILES}/:file_id/url`, "file_url", ({ files, publicUrl }) => fileUrl(files, publicUrl)),
  // A signed URL needs no other credential.
  served("GET", `${FILES}/:file_id/content`, "file_content", ({ files, runs }) => fileContent(files, runs), { admits: "key_or_none" }),
  route("DELETE", `${FILES}/:file_id`, "file_delete", fileDelete),
  route("POST", OPENAI, "file_upload", openaiFileUpload, { body: "streamed" }),
  route("GET", OPENAI, "file_list", openaiFileList),
  route("GET", `${OPENAI}/:file_id`, "file_detail", openaiFileDetail),
  route("GET", `${OPENAI}/:file_id/content`, "file_content", openaiFileContent),
  route("DELETE", `${OPENAI}/:file_id`, "file_delete", openaiFileDelete),
  route("POST", ANTHROPIC, "file_upload", anthropicFileUpload, { body: "streamed" }),
  served("GET", GEMINI, "file_list", googleList),
  served("GET", ANTHROPIC, "file_list", byClient(anthropicFileList, googleList)),
  // Before the file itself, whose ID this would match.
  ...[GEMINI, ANTHROPIC].map((path) => route("GET", `${path}/:file_id{[^/]+:download}`, "file_content", geminiFileContent)),
  served("GET", `${GEMINI}/:file_id`, "file_detail", googleDetail),
  served("GET", `${ANTHROPIC}/:file_id`, "file_detail", byClient(anthropicFileDetail, googleDetail)),
  route("GET", `${ANTHROPIC}/:file_id/content`, "file_content", anthropicFileContent),
  route("DELETE", `${GEMINI}/:file_id`, "file_delete", geminiFileDelete),
  served(
    "DELETE",
    `${ANTHROPIC}/:file_id`,
    "file_delete",
    byClient(anthropicFileDelete, ({ files }) => geminiFileDelete(files)),
  ),
  ...["/upload/v1beta/files", "/upload/v1/files"].map((path) =>
    served("POST", path, "file_upload", geminiFileUpload, { body: "streamed" }),
  ),
];

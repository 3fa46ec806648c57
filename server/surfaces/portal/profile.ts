import { photoSet } from "@gatehouse/contracts/end-users";
import { portalGroups, portalProfile, primaryGroupChosen } from "@gatehouse/contracts/portal-answers";
import { primaryGroupChoice, profileUpdate } from "@gatehouse/contracts/portal";
import { photo, PHOTO_BYTES } from "../../directory/people/photos.ts";
import { choosePrimaryGroup, ownGroups, profile, setOwnPhoto, updateProfile } from "../../directory/people/portal/profile.ts";
import { ownAnswer } from "../../road/answer.ts";
import { refuse } from "../../kernel/errors.ts";
import { formFile } from "../../wire/http/form-file.ts";
import { PHOTO_HEADERS } from "../../wire/http/photo-headers.ts";
import { portalOperation, type PortalRoute } from "./portal-operation.ts";

const AUTH = "/v1/portal/auth";
const FORM_BYTES = PHOTO_BYTES + 64 * 1024;

export const profileRoutes: readonly PortalRoute[] = [
  portalOperation({
    method: "GET",
    path: `${AUTH}/profile`,
    name: "profile",
    summary: "The user's account",
    answer: { status: 200, schema: portalProfile },
    run: ({ services, user }) => profile(services.logins, user),
  }),
  portalOperation({
    method: "PATCH",
    path: `${AUTH}/profile`,
    name: "profile_update",
    summary: "Changes the user's account",
    answer: { status: 200, schema: portalProfile },
    body: profileUpdate,
    run: ({ services, user, body, origin }) => updateProfile(services.logins, user, body, origin),
  }),
  portalOperation({
    method: "POST",
    path: `${AUTH}/profile/photo`,
    name: "profile_photo_set",
    summary: "Sets the user's photo",
    answer: { status: 200, schema: photoSet },
    form: true,
    maxBodyBytes: FORM_BYTES,
    async run({ services, call, user, bytes, origin }) {
      const file = await formFile(bytes, call.headers.get("content-type"), "file");
      if (file === null)
        return refuse("invalid_body", "file is required, as multipart/form-data", {
          fields: [{ field: "file", message: "is required, as multipart/form-data" }],
        });
      return { success: true, avatar_url: await setOwnPhoto(services.logins, user, file, origin) };
    },
  }),
  portalOperation({
    // Images in pages are fetched without a token; the URL itself is the secret.
    admits: "anyone",
    method: "GET",
    path: "/v1/portal/photos/:photo_id",
    name: "photo",
    summary: "A photo",
    answer: { status: 200, media: "image/*" },
    async run({ services, call, params }) {
      const found = await photo(services.directory, params.photo_id ?? "");
      if (found === null) return refuse("not_found");
      call.row.tenant_id = found.tenant_id;
      return ownAnswer(200, { ...PHOTO_HEADERS, "content-type": found.mime_type }, new Uint8Array(found.content));
    },
  }),
  portalOperation({
    method: "GET",
    path: `${AUTH}/groups`,
    name: "groups",
    summary: "The user's resource groups",
    answer: { status: 200, schema: portalGroups },
    run: ({ services, user }) => ownGroups(services.logins, user),
  }),
  portalOperation({
    method: "PATCH",
    path: `${AUTH}/primary-group`,
    name: "primary_group",
    summary: "Sets the group that calls count for",
    answer: { status: 200, schema: primaryGroupChosen },
    body: primaryGroupChoice,
    run: ({ services, user, body, origin }) => choosePrimaryGroup(services.logins, user, body.group_id, origin),
  }),
];

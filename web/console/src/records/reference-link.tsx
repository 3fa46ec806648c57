import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { recordKind } from "./record-kinds.ts";
import type { RecordKind } from "./record-kind.ts";
import { useReferenceNames } from "./reference-names.ts";

function NamedLink({ kind, id }: { readonly kind: RecordKind; readonly id: string }): ReactNode {
  const name = useReferenceNames(kind, [id])(id);
  if (name === undefined) return null;
  return (
    <Link to="/manage/$kind/$id" params={{ kind: kind.slug, id }} className="inline-block py-0.5 text-sm text-accent underline">
      <bdi>{name}</bdi>
    </Link>
  );
}

/** The name of the record with this ID, linked to its page; nothing if it does not exist or may not be read. */
export function ReferenceLink({ slug, id }: { readonly slug: string; readonly id: string }): ReactNode {
  const kind = recordKind(slug);
  return kind === undefined ? null : <NamedLink kind={kind} id={id} />;
}

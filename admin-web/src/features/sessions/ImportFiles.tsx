import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";
import type { Counts, Imported } from "../../api/types.ts";
import { whole } from "../../lib/numbers.ts";
import { Dialog } from "../../ui/Dialog.tsx";
import { Facts } from "../../ui/Facts.tsx";
import { Field } from "../../ui/Field.tsx";
import { Form } from "../../ui/Form.tsx";
import { importFiles } from "./queries.ts";
import style from "./ImportFiles.module.css";

/** Takes a recorded session in, and tells what became of it. */
export function ImportFiles({ onClose }: { onClose: () => void }) {
  const [files, setFiles] = useState<readonly File[]>([]);
  const client = useQueryClient();
  const importing = useMutation({
    mutationFn: importFiles,
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: ["sessions", "list"] });
      void client.invalidateQueries({ queryKey: ["agents"] });
    },
  });
  return (
    <Dialog title="Import a recorded session" onClose={onClose}>
      {importing.data ? (
        <Outcome imported={importing.data} />
      ) : (
        <Form
          verb="Import"
          isReady={files.length > 0}
          isPending={importing.isPending}
          error={importing.error}
          onSubmit={() => importing.mutate(files)}
          onCancel={onClose}
        >
          <Field
            label="Files"
            hint="A transcript, a captured request or an export; what it is, hango finds out. Several files are one session's main file and those of its helpers."
          >
            {(control) => (
              <input
                {...control}
                type="file"
                multiple
                onChange={(event) => setFiles([...(event.target.files ?? [])])}
              />
            )}
          </Field>
        </Form>
      )}
    </Dialog>
  );
}

function Outcome({ imported }: { imported: Imported }) {
  const { report } = imported;
  return (
    <div className={style.outcome} role="status">
      <p>{worded(imported)}</p>
      <Facts
        label="What was imported"
        facts={[
          ["Format", report.format],
          ["Messages", whole(report.messages)],
          ["Sessions", whole(imported.sessions.length)],
        ]}
      />
      <Tally title="Repaired, so that it can be sent" counts={report.repaired} />
      <Tally title="Left out" counts={report.dropped} />
      <Tally title="Kept, and not understood" counts={report.kept_not_understood} />
      <p>
        <Link to={`/sessions/${imported.session_id}`}>Open the session</Link>
      </p>
    </div>
  );
}

const worded = ({ created, updated, earlier_session_id }: Imported): string => {
  if (created && earlier_session_id) return "Imported anew: the earlier import does not lead here.";
  if (created) return "Imported.";
  return updated ? "It was here before, and goes on now." : "It was here before, and is unchanged.";
};

function Tally({ title, counts }: { title: string; counts: Counts }) {
  const found = Object.entries(counts);
  if (found.length === 0) return null;
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      <ul className={style.tally}>
        {found.map(([name, count]) => (
          <li key={name}>
            {name.replaceAll("_", " ")}: {whole(count)}
          </li>
        ))}
      </ul>
    </section>
  );
}

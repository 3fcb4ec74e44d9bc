import { Button } from "../../ui/Button.tsx";
import { Dialog } from "../../ui/Dialog.tsx";
import { Table } from "../../ui/Table.tsx";
import { shortName } from "./flags.ts";
import { type Conflict, saidOf } from "./model.ts";
import style from "./ContextPanel.module.css";

type Props = {
  conflicts: readonly Conflict[];
  /** Put the draft on top of what now stands; nothing is saved by it. */
  onKeepMine: () => void;
  onTakeTheirs: () => void;
};

/** Somebody else saved first: what they did beside what this user wants. Nothing is lost yet. */
export function ConflictDialog({ conflicts, onKeepMine, onTakeTheirs }: Props) {
  return (
    <Dialog title="Somebody else has saved meanwhile" onClose={onKeepMine}>
      <div className={style.stack}>
        <p>Your changes are not saved, and still here. This is what stands now, beside yours:</p>
        <Table caption="Both versions" head={["Part", "It was", "They saved", "You want"]}>
          {conflicts.map(({ part, was, theirs, mine }) => (
            <tr key={part}>
              <td title={part}>{shortName(part)}</td>
              <td>{saidOf(was)}</td>
              <td>
                {saidOf(theirs)}
                {theirs.replacement !== null && (
                  <pre className={style.excerpt}>{theirs.replacement}</pre>
                )}
              </td>
              <td>
                {mine ? saidOf(mine) : "–"}
                {mine?.replacement != null && (
                  <pre className={style.excerpt}>{mine.replacement}</pre>
                )}
              </td>
            </tr>
          ))}
        </Table>
        <div className={style.actions}>
          <Button look="primary" onClick={onKeepMine}>
            Keep mine on top of theirs
          </Button>
          <Button onClick={onTakeTheirs}>Drop mine</Button>
        </div>
      </div>
    </Dialog>
  );
}

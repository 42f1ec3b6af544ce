import { projectionSet } from '../../projections/projection-set.js';
import { eventCatalogue, retiredEventTypes } from '../event-store/catalogue.js';
import { schemaOf, setVersionOf } from './set-version.js';

/** The set of this build. */
export const SET_VERSION = setVersionOf(projectionSet, eventCatalogue, retiredEventTypes);
export const SET_SCHEMA = schemaOf(SET_VERSION);

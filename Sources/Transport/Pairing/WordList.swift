/// 256 words, one for each value of a byte: short, plain, told apart by their first three letters and on the telephone.
/// Two versions of syncd must show the same words, so this list never changes.
enum WordList {
    static let words: [String] = text.split { $0 == " " || $0 == "\n" }.map(String.init)

    private static let text = """
        acorn agent alarm album amber angle ankle apple april arrow atlas award bacon badge baker banjo barn basil
        beach bell birch bison blade bonus book bottle bread brick brush bucket bull button cabin cactus camel canal
        carbon castle cedar chain cheese circus clay cliff clock coal cobra cocoa coffee comet copper coral cotton
        crab crown cube daisy dance dawn denim desert diamond dinner dolphin donkey dragon drum duck dust eagle earth
        east echo elbow engine fabric falcon farm feather fence ferry fiddle field finger flag flute forest fossil fox
        frost fruit galaxy garden gate ghost ginger glass globe goat gold grape guitar hammer harbor hat hazel helmet
        heron honey horse hotel house husky igloo iron island ivory jacket jaguar jelly jewel juice jungle kettle
        kitten kiwi knee ladder lake lamp lantern lemon letter lily lion lobster locket lumber lunch magnet maple
        marble meadow melon mill mirror monkey moon mosaic motor mouse museum napkin needle nest nickel north nut
        oasis ocean olive onion opera orange orbit otter oven owl oyster paddle paint palace panda paper parrot pebble
        pencil pepper piano pigeon pilot pine planet plum pocket pony potato prism pumpkin puzzle quartz queen quilt
        rabbit radio raft rain raven ribbon river robin rocket rose ruby saddle salmon sand scarf school shark sheep
        silver sky snail snow sofa spider spoon spring star stone sugar sunset swan table tango temple thumb tiger
        toast tomato tower train tulip tunnel turtle uncle valley velvet vessel village violin volcano wagon walnut
        water whale wheat willow window wolf wool yacht yellow zebra zinc
        """
}
